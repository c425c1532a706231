SELECT count() {_wanted}
