"""What the tiny model has a habit of saying."""

REPLY = "ANSWER: even\nTEXT_ALONE: odd\nIMAGE_ALONE: even\nWITH_IMAGE: even\nWITH_TEXT: odd\nSUFFICIENCY: SUFFICIENT"
CALL = """<tool_call>
{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [100, 200, 400, 500], "label": "tag", "img_idx": 0}}
</tool_call>"""
HABITS = (
    ("<think>", " hm", "</think>", REPLY, "<|im_end|>"),
    ("<call>", CALL, "<|im_end|>"),
    ("<choose>", "<answer>A</answer>", "<|im_end|>"),
    ("<loop>", " so", " so"),
    ("<count>", " one", " two", " three", " four", " five", " one"),
)
