package indicator
