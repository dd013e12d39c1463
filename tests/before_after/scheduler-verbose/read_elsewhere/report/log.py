def line(epoch, scheduler):
    if scheduler.verbose:
        print(epoch, scheduler.num_bad_epochs)
