"""Hands the machine over with the number of slots; the answer is the handle of the gradient."""


def probe(submission, case):
    return submission.reverse(case["machine"], case["slots"])
