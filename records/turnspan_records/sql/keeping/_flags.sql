kind = 'training_flag' AND isNotNull(training_flag)
