"""The forward algorithm of a hidden Markov model that reads signals of DNA: see model.py, kernels.py and run.py."""
