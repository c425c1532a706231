SELECT count(), countIf({_left}) FROM ({source})
