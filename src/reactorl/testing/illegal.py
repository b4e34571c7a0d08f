"""x"""
ILLEGAL = (1,)
Illegal = int
