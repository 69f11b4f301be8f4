"""A translator as a static web page: the model, its engine in JavaScript and every view of it."""
