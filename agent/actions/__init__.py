"""One module for each verb: plain arguments in, a result out, nothing printed."""
