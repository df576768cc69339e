package table_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/metadata/table"
)

// existing is a record that says more than a table can.
func existing() *metadata.Record {
	return &metadata.Record{
		Creators: metadata.List[metadata.Creator]{
			metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427").AffiliatedWith("Example University", ""),
			metadata.Person("Noether", "Emmy").ORCID("0000-0002-1825-0097"),
		},
		Titles:          metadata.List[metadata.Title]{{Title: "Glaciers"}, {Title: "Gletscher", TitleType: metadata.TitleTranslated}},
		Publisher:       metadata.Publisher{Name: "Example Repository", PublisherIdentifier: "https://ror.org/04wxnsj81", PublisherIdentifierScheme: "ROR"},
		PublicationYear: "2026",
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
		Subjects:        metadata.List[metadata.Subject]{{Subject: "ice", SubjectScheme: "Thesaurus"}, {Subject: "climate"}},
		Contributors:    metadata.List[metadata.Contributor]{{Creator: metadata.Organization("Institute"), ContributorType: metadata.ContributorHostingInstitution}},
		Descriptions: metadata.List[metadata.Description]{
			{Description: "How", DescriptionType: metadata.DescriptionMethods}, {Description: "What", DescriptionType: metadata.DescriptionAbstract},
		},
		Dates:    metadata.List[metadata.Date]{{Date: "2020", DateType: metadata.DateCollected, DateInformation: "in summer"}},
		Language: "en",
	}
}

func TestComplete(t *testing.T) {
	for name, tt := range map[string]struct {
		row   string // title|creators|publisher|year|type|subjects|description|dates
		paths []string
	}{
		"nothing else":         {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset###", nil},
		"parts of it":          {"Glaciers#Lovelace, Ada | 0000-0001-5727-2427; Noether, Emmy#Example Repository#2026#dataset#climate; ice#What#Collected 2020", nil},
		"a title":              {"Glacier#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset###", []string{"titles[0].title"}},
		"an abstract":          {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset##Why#", []string{"descriptions[1].description"}},
		"a creator less":       {"Glaciers#Lovelace, Ada#Example Repository#2026#Dataset###", []string{"creators[1]"}},
		"creators turned":      {"Glaciers#Noether, Emmy; Lovelace, Ada#Example Repository#2026#Dataset###", []string{"creators"}},
		"another ORCID":        {"Glaciers#Lovelace, Ada | 0000-0002-1825-0097; Noether, Emmy#Example Repository#2026#Dataset###", []string{"creators[0].nameIdentifiers[0].nameIdentifier"}},
		"a year":               {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2025#Dataset###", []string{"publicationYear"}},
		"a type":               {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Image###", []string{"types.resourceType", "types.resourceTypeGeneral"}},
		"a keyword of another": {"Glaciers#Lovelace, Ada; Noether, Emmy#Example Repository#2026#Dataset#ice; snow##", []string{"subjects[1].subject"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := table.NewReader("items.csv", strings.NewReader("title\tcreators\tpublisher\tyear\ttype\tsubjects\tdescription\tdates\n"+strings.ReplaceAll(tt.row, "#", "\t")+"\n"), nil)
			require.NoError(t, err)
			for row, err := range r.All() {
				require.NoError(t, err)
				require.NoError(t, row.Err())
				complete := table.Complete(row.Record, existing())
				var paths []string
				for _, c := range metadata.Diff(complete, existing()) {
					paths = append(paths, c.Path)
				}
				assert.Equal(t, tt.paths, paths)
				assert.Equal(t, existing().Contributors, complete.Contributors)
				assert.Equal(t, existing().Titles[1], complete.Titles[1])
				assert.Len(t, complete.Descriptions, 2)
			}
		})
	}
}
