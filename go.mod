module github.com/datacite-go/datacite-go

go 1.26

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	gopkg.in/dnaeon/go-vcr.v3 v3.2.0 // indirect
)
