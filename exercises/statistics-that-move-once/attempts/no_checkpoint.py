def run(stretch, x):
    return stretch(x)
