def probe(submission, case):
    return submission.pull_back(case["machine"])
