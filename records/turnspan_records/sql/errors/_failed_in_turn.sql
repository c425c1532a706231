name = {tool:String} AND failed AND turn_id != '' AND {in_window}
