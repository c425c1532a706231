-- Where the page before ended.
(fromUnixTimestamp64Nano({before:Int64}), {id:String})
