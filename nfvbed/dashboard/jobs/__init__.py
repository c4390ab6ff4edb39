"""Jobs: processes of nfvbed's command line that outlive the server that started them, one at a time on a site."""
