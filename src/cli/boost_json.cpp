// Boost.JSON, compiled once for the program.
#include <boost/json/src.hpp>
