// Package query builds, reads and checks the query strings, sort orders and
// pages of the DOI query interface.
package query
