import lightning
