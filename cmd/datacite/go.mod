module github.com/datacite-go/datacite-go/cmd/datacite

go 1.26.0

require (
	github.com/agnivade/levenshtein v1.2.2
	github.com/creack/pty v1.1.24
	github.com/datacite-go/datacite-go v0.1.0
	github.com/gofrs/flock v0.13.1
	github.com/mattn/go-runewidth v0.0.24
	github.com/maxmind/mmdbwriter v1.2.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10
	github.com/stretchr/testify v1.12.1
	github.com/temoto/robotstxt v1.1.2
	golang.org/x/term v0.43.0
	golang.org/x/time v0.14.0
)

require (
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/gorilla/mux v1.8.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	go4.org/netipx v0.0.0-20231129151722-fdeea329fbba // indirect
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/getkin/kin-openapi v0.153.0
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/compress v1.20.3
	github.com/oschwald/maxminddb-golang/v2 v2.9.0
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.31.0
)
