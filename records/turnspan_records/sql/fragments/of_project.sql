({project:String} = '' OR project = {project:String})
