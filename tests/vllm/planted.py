"""What the tiny model has a habit of saying."""

REPLY = "ANSWER: even\nTEXT_ALONE: odd\nIMAGE_ALONE: even\nWITH_IMAGE: even\nWITH_TEXT: odd\nSUFFICIENCY: SUFFICIENT"
HABITS = (
    ("<think>", " hm", "</think>", REPLY, "<|im_end|>"),
    ("<loop>", " so", " so"),
    ("<count>", " one", " two", " three", " four", " five", " one"),
)
