"""The worker: runs learner code in a box, judges it outside. Needs no website. See README.md here."""
