def probe(submission, case):
    return {"end": int(submission.ends_at(case["start"], case["hours"]))}
