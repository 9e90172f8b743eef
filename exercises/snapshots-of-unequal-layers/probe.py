"""Hands over the machine, which has the costs, the sizes and the budget; the answer is the handle of the gradient."""


def probe(submission, case):
    return submission.reverse(case["machine"])
