// Boost.JSON, compiled into the runner.
#include <boost/json/src.hpp>
