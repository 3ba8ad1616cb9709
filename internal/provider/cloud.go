package provider

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Place is where at a cloud a provider is. Its base URL follows from it.
type Place struct {
	Project    string // Google Cloud's; with Resource, the project at Azure's Foundry whose deployments are listed
	Location   string // Google Cloud's; "" = global
	APIVersion string // Google's; "" = that of the dialect there
	Region     string // AWS
	Service    string // AWS, also the name that requests are signed for; "" = bedrock
	Resource   string // Azure OpenAI or Foundry
}

// The services of AWS that have models, which is also what requests to them are signed for.
const (
	ServiceBedrock = "bedrock"
	serviceMantle  = "bedrock-mantle"         // OpenAI's and Anthropic's APIs of Bedrock, with quotas of their own
	serviceClaude  = "aws-external-anthropic" // Claude Platform on AWS
)

// The clouds that are no service of AWS.
const (
	Google = "google"
	azure  = "azure"
)

// Where the base URLs of Azure and Bedrock end that have another vendor's API.
const (
	openAIV1    = "/openai/v1"
	anthropicV1 = "/anthropic/v1"
)

// The forms of options. Most become a part of the host that gets the credential, or of its path: a
// slash or a dot in them would send it elsewhere.
var (
	hostWord  = regexp.MustCompile(`^[a-z]{2,20}(-[a-z0-9]{1,20}){0,4}$`)
	resource  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)
	project   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$`)
	apiNumber = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]*)?$`)
)

// check returns an error that says what to write if the place makes no sense.
func (p Place) check() error {
	for _, o := range []struct {
		option, value, like string
		form                *regexp.Regexp
	}{
		{"project", p.Project, "my-project", project},
		{"location", p.Location, "us-central1, eu or global", hostWord},
		{"api_version", p.APIVersion, "v1beta1", apiNumber},
		{"region", p.Region, "us-east-1", hostWord},
		{"service", p.Service, ServiceBedrock, hostWord},
		{"resource", p.Resource, "my-resource, the part of its host before the first dot", resource},
	} {
		if o.value != "" && !o.form.MatchString(o.value) {
			return fmt.Errorf("%s %q: write one such as %s", o.option, o.value, o.like)
		}
	}
	for _, pair := range []struct{ given, other, options string }{
		{p.Resource, p.Region + p.Service, "resource (Azure) and region or service (AWS)"},
		{p.Resource, p.Location + p.APIVersion, "resource (Azure) and location or api_version (Google)"},
		{p.Region + p.Service, p.Project + p.Location + p.APIVersion, "region or service (AWS) and project, location or api_version (Google)"},
	} {
		if pair.given != "" && pair.other != "" {
			return fmt.Errorf("%s: give the options of one cloud", pair.options)
		}
	}
	return nil
}

// cloud returns the cloud or service that the place is in, "" for none.
func (p Place) cloud() string {
	switch {
	case p.Resource != "":
		return azure
	case p.Region != "":
		return cmp.Or(p.Service, ServiceBedrock)
	case p.Project != "":
		return Google
	}
	return ""
}

// address is where an endpoint is, and what follows from it.
type address struct {
	baseURL string
	dialect string   // "" = by the host
	lists   []string // of models; nil = at the dialect's path
	cloud   string
}

// address returns the address of an endpoint. A base URL replaces what follows from the place.
func (e EndpointConfig) address(dialect string) (address, error) {
	p := e.Place
	if err := p.check(); err != nil {
		return address{}, err
	}
	a := address{baseURL: e.BaseURL, dialect: dialect, cloud: p.cloud()}
	if a.baseURL == "" {
		var err error
		if a.baseURL, a.dialect, err = p.base(dialect); err != nil {
			return a, err
		}
	}
	a.lists = p.lists(a.baseURL, a.dialect)
	return a, nil
}

// base returns the base URL of a place for a dialect, and the dialect: the cloud's usual one if it
// is "".
func (p Place) base(dialect string) (baseURL, of string, err error) {
	at := p.cloud()
	there, usual := dialectsAt(at)
	d := usual
	if dialect != "" {
		d = dialectNamed(dialect)
	}
	base := d.Bases[at]
	switch {
	case at == "" && p.Location != "":
		return "", "", errors.New("location needs project, too")
	case at == "" && p.APIVersion != "" && d.Versions[at] == "":
		return "", "", errors.New("api_version is Google's: it needs project, or dialect gemini")
	case at == "" && base == "":
		return "", "", errors.New("base_url is missing; at a cloud it follows from project (Google), region (AWS) or resource (Azure)")
	case there == nil:
		return "", "", fmt.Errorf("service %q: its address is not known; give base_url too", at)
	case base == "" && dialect == "":
		return "", "", fmt.Errorf("%s has no usual dialect in this build: give base_url, or one of the dialects %s", at, strings.Join(there, ", "))
	case base == "":
		return "", "", fmt.Errorf("dialect %s at %s: give base_url, or one of the dialects %s", dialect, at, strings.Join(there, ", "))
	}
	location := cmp.Or(p.Location, "global")
	return strings.NewReplacer(
		"{host}", googleHost(location), "{version}", cmp.Or(p.APIVersion, d.Versions[at]), "{project}", p.Project,
		"{location}", location, "{region}", p.Region, "{resource}", p.Resource,
	).Replace(base), d.Name, nil
}

// dialectsAt returns the names of the dialects at a cloud or service, sorted, and the usual one,
// which has nothing if there is none.
func dialectsAt(cloud string) (names []string, usual *Dialect) {
	usual = new(Dialect)
	for _, d := range dialects {
		if d.Bases[cloud] != "" {
			names = append(names, d.Name)
		}
		if slices.Contains(d.UsualAt, cloud) {
			usual = d
		}
	}
	slices.Sort(names)
	return names, usual
}

// CatalogName is what price maps call the provider of the models of a place, "" if it has no usual
// name.
func (p Place) CatalogName(dialect string) string {
	at := p.cloud()
	if own := dialectNamed(dialect).CatalogNames[at]; own != "" {
		return own
	}
	return map[string]string{Google: "vertex_ai", ServiceBedrock: "bedrock", serviceMantle: "bedrock", azure: "azure"}[at]
}

// keyField returns how API keys of a dialect are sent: all of Bedrock takes them as a bearer token.
func (a address) keyField(d *Dialect) func(key string) (name, value string) {
	switch {
	case a.cloud == azure && d == openAI:
		return azureKeyField
	case a.cloud == ServiceBedrock || a.cloud == serviceMantle:
		return BearerField
	}
	return d.KeyField
}

// azureKeyField has API keys as all addresses of Azure take them.
func azureKeyField(key string) (name, value string) { return "Api-Key", key }

// googleHost is the host of a location of Vertex AI. "us" and "eu" are multi-regions.
func googleHost(location string) string {
	switch location {
	case "global":
		return "aiplatform.googleapis.com"
	case "us", "eu":
		return "aiplatform." + location + ".rep.googleapis.com"
	}
	return location + "-aiplatform.googleapis.com"
}
