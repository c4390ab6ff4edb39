"""The vEPC: a mobile core of nextepc's functions as one VNF, with an emulated eNB whose UEs attach to it."""
