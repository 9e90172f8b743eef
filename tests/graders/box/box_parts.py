"""What the box's tests run and read: the same cells as the recorded attacks."""

from graders.attacks.cells import ATTACK_LIMITS, DOCUMENT_BYTES, Ending, make_request, run_to_end

TEST_LIMITS = ATTACK_LIMITS

__all__ = ["DOCUMENT_BYTES", "TEST_LIMITS", "Ending", "make_request", "run_to_end"]
