// Package metadata holds the metadata record of a DOI as one typed value.
package metadata
