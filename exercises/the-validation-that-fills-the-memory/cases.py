"""Small validations for the losses and for what must not change, then many batches, whose memory the kernel measures.

A unit is 1 MiB. One activation of a measured case has 8 MiB. Measured, in units: 17 without recording and with one
graph at a time, and 105 with the graphs of all 12 batches.
"""

MOST_UNITS = 40


def draw_cases(rng):
    cases = [
        draw(rng, "three batches", "Losses, and what has changed afterwards", "losses-wrong", 3),
        draw(rng, "twelve batches", "Twelve batches, within the budget", "losses-wrong", 12, measured=True),
        draw(
            rng,
            "recording was off",
            "The caller has switched gradient recording off",
            "recording",
            3,
            recording=False,
        ),
        draw(rng, "a broken batch", "The third batch raises an error", "after-an-error", 3, breaks=True),
        draw(rng, "in training mode", "All but one layer are in training mode", "other-mode", 2, training=True),
        draw(rng, "no batch", "There is nothing to validate on", "no-batch", 0),
        draw(rng, "more batches", "Sixteen batches, within the same budget", "losses-wrong", 16, measured=True),
    ]
    for hidden in cases[2:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def draw(rng, name, idea, finding, batches, *, measured=False, recording=True, breaks=False, training=False):
    rows, hidden = (128, 8192) if measured else (6, 5)
    shown = f"validate(model, batches)  # {batches} batches of {rows} rows, {hidden} hidden units"
    case = {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {
            "seed": rng.getrandbits(40),
            "rows": rows,
            "hidden": hidden,
            "batches": batches,
            "recording": recording,
            "breaks": breaks,
            "training": training,
        },
        "shown": shown,
        "instead": {"wrong_shape": "losses-wrong"},
    }
    return case | ({"peak": {"unit_bytes": 1 << 20, "most_units": MOST_UNITS}} if measured else {})


def diagnose(inputs, got, expected):
    if got["recording"] != expected["recording"]:
        return "after-an-error" if inputs["breaks"] else "recording"
    if list(got["frozen"]) != list(expected["frozen"]):
        return "after-an-error" if inputs["breaks"] else "frozen"
    if list(got["training"]) != list(expected["training"]):
        return "mode-changed"
    if not all(got["gradients kept"]):
        return "gradients-touched"
    return None
