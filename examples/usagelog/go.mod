module github.com/datacite-go/datacite-go/examples/usagelog

go 1.26.0

replace github.com/datacite-go/datacite-go => ../..

require (
	github.com/datacite-go/datacite-go v0.0.0-00010101000000-000000000000
	github.com/klauspost/compress v1.20.3
	github.com/oschwald/maxminddb-golang/v2 v2.9.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/google/uuid v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	go4.org/netipx v0.0.0-20231129151722-fdeea329fbba // indirect
	golang.org/x/text v0.31.0 // indirect
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/maxmind/mmdbwriter v1.2.0
	golang.org/x/sys v0.49.0 // indirect
)
