operation IN ('', 'chat', 'text_completion', 'generate_content')
