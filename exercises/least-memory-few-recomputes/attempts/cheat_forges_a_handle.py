def reverse(machine):
    handle = machine.loss(machine.start)
    handle.number = 4_000_000_000
    return handle
