"""The vEPC: a mobile core of nextepc's functions as one VNF, and an emulated eNB with its UEs that attach to it."""
