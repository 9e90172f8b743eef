"""Hands over the machine, which has the sizes and the budgets; the answer is the handle of the gradient."""


def probe(submission, case):
    return submission.reverse(case["machine"])
