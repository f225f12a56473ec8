from .certificates import Verification as Verification, verify as verify, verify_point as verify_point
