from .typical_calls import Call as Call, typical_calls as typical_calls
