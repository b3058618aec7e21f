"""Who may write a run, and writing what its engine derived: leases, batches, notices."""
