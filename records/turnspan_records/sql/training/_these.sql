project = {project:String} AND {condition} AND ({turn:String} = '' OR turn_id = {turn:String})
