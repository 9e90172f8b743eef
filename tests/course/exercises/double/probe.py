def probe(submission, case):
    return {"double": float(submission.double(case["x"]))}
