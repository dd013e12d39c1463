from base import Base


class Gan(Base):
    automatic_optimization = False
