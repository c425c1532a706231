({only:String} = '' OR project = {only:String})
