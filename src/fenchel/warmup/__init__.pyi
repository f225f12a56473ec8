from .typical_calls import Call as Call, all_calls as all_calls
