"""The act of testing: generators, planning, running, judging, naming causes."""
