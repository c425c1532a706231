-- The model that a call counts under: the one that answered; of a call without an answer the one
-- that last answered what was asked for, on its day or else in the window and the month before it;
-- else what was asked for. An alias moves on, so the same day goes first. Only what has calls
-- without an answer is looked up, which are few.
if(response_model != '', toString(response_model),
    transform(
        concat(project, '\n', toString(request_model), '\n', toString(toDate(start_time))),
        ({model_answers} AS answers).1, answers.2,
        transform(
            concat(project, '\n', toString(request_model), '\n'),
            answers.1, answers.2, toString(request_model))))
