"""Small data sets, drawn with a seed and written in exactly the public forms, so that the same loaders read them.

Each picture says in itself what it shows (`generator.images.truth`): simulated subjects cannot read pixels, and no real model is asked.
"""
