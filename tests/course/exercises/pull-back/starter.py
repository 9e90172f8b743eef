def pull_back(machine):
    raise NotImplementedError
