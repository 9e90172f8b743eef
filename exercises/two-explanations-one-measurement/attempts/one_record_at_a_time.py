def reaches_back(make):
    for k in range(1, 12):
        a, b = make(), make()
        for _ in range(k - 1):
            a(4), b(4)
        a(1), b(8)
        if a(4).nodes != b(4).nodes:
            return True
    return False
