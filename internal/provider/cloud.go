package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Place is where at a cloud a provider is. Its base URL follows from it.
type Place struct {
	Project    string // Google Cloud's; with Resource, the project at Azure's Foundry whose deployments are listed
	Location   string // Google Cloud's; "" = global
	APIVersion string // Google's; "" = that of usualVersions
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
	google = "google"
	azure  = "azure"
)

// bases are the base URLs of a cloud or service, by dialect. A word in braces is an option, or the
// host of a location. Sources: Google's GenAI SDKs, botocore and the vendors' pages of 2026-11-23;
// none was tried with an account.
var bases = map[string]map[string]string{
	google: {
		Gemini:          "https://{host}/{version}/projects/{project}/locations/{location}/publishers/google",
		VertexAnthropic: "https://{host}/{version}/projects/{project}/locations/{location}/publishers/anthropic",
		OpenAI:          "https://{host}/{version}/projects/{project}/locations/{location}/endpoints/openapi",
	},
	ServiceBedrock: {
		Bedrock:          "https://bedrock-runtime.{region}.amazonaws.com",
		BedrockAnthropic: "https://bedrock-runtime.{region}.amazonaws.com",
		OpenAI:           "https://bedrock-runtime.{region}.amazonaws.com" + openAIV1,
		Anthropic:        "https://bedrock-runtime.{region}.amazonaws.com" + anthropicV1,
	},
	serviceMantle: {
		OpenAI:    "https://bedrock-mantle.{region}.api.aws/v1",
		Anthropic: "https://bedrock-mantle.{region}.api.aws/anthropic/v1",
	},
	serviceClaude: {
		Anthropic: "https://aws-external-anthropic.{region}.api.aws/v1",
	},
	azure: {
		OpenAI:    "https://{resource}.openai.azure.com" + openAIV1,
		Anthropic: "https://{resource}.services.ai.azure.com" + anthropicV1,
	},
}

// ownBases are the base URLs of vendors that need no place.
var ownBases = map[string]string{
	Anthropic: "https://api.anthropic.com/v1",
	Gemini:    "https://" + geminiHost + "/{version}",
}

// usualDialects serve most models of a cloud or service.
var usualDialects = map[string]string{
	google: Gemini, ServiceBedrock: Bedrock, serviceMantle: OpenAI, serviceClaude: Anthropic, azure: OpenAI,
}

// usualVersions are the versions of Google's APIs. Only the beta of Vertex AI continues long answers.
var usualVersions = map[string]string{Gemini: "v1beta1", VertexAnthropic: "v1", OpenAI: "v1"}

// geminiVersion is that of the Gemini API. Names that end in -latest exist only there.
const geminiVersion = "v1beta"

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

// cloud returns which of bases the place is in, "" for none.
func (p Place) cloud() string {
	switch {
	case p.Resource != "":
		return azure
	case p.Region != "":
		return cmp.Or(p.Service, ServiceBedrock)
	case p.Project != "":
		return google
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

// base returns the base URL of a place for a dialect, and the dialect: the cloud's usual one if it is
// "".
func (p Place) base(dialect string) (baseURL, of string, err error) {
	at := p.cloud()
	switch {
	case at == "" && p.Location != "":
		return "", "", errors.New("location needs project, too")
	case at == "" && p.APIVersion != "" && dialect != Gemini:
		return "", "", errors.New("api_version is Google's: it needs project, or dialect gemini")
	case at == "" && ownBases[dialect] == "":
		return "", "", errors.New("base_url is missing; at a cloud it follows from project (Google), region (AWS) or resource (Azure)")
	case at == "":
		return strings.ReplaceAll(ownBases[dialect], "{version}", cmp.Or(p.APIVersion, geminiVersion)), dialect, nil
	case bases[at] == nil:
		return "", "", fmt.Errorf("service %q: its address is not known; give base_url too", at)
	}
	dialect = cmp.Or(dialect, usualDialects[at])
	base := bases[at][dialect]
	if base == "" {
		return "", "", fmt.Errorf("dialect %s at %s: give base_url, or one of the dialects %s", dialect, at,
			strings.Join(slices.Sorted(maps.Keys(bases[at])), ", "))
	}
	location := cmp.Or(p.Location, "global")
	return strings.NewReplacer(
		"{host}", googleHost(location), "{version}", cmp.Or(p.APIVersion, usualVersions[dialect]), "{project}", p.Project,
		"{location}", location, "{region}", p.Region, "{resource}", p.Resource,
	).Replace(base), dialect, nil
}

// CatalogName is what price maps call the provider of the models of a place, "" if it has no usual
// name.
func (p Place) CatalogName(dialect string) string {
	switch at := p.cloud(); {
	case at == "" && dialect == Gemini:
		return "gemini"
	case at == azure && dialect == Anthropic:
		return "azure_ai"
	default:
		return map[string]string{google: "vertex_ai", ServiceBedrock: "bedrock", serviceMantle: "bedrock", azure: "azure"}[at]
	}
}

// keys returns the dialect by which API keys are sent: all of Bedrock takes them as a bearer token.
func (a address) keys(d Dialect) Dialect {
	switch {
	case a.cloud == azure && d.Name() == OpenAI:
		return azureKeys{d}
	case a.cloud == ServiceBedrock || a.cloud == serviceMantle:
		return bedrock{}
	}
	return d
}
