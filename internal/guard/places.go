package guard

// place is a member whose value is not read.
type place struct {
	parent string // the member that holds the object it is in, "/" for the top, "" for any
	key    string
	deep   bool // whatever the value; otherwise only a string
	why    string
}

// unread are the members of requests and answers that are not read. All
// others are. Keys match as written: a body that spells one otherwise has it
// read.
var unread = []place{
	{"", "id", false, "identifier"},
	{"", "call_id", false, "identifier"},
	{"", "tool_call_id", false, "identifier"},
	{"", "item_id", false, "identifier"},
	{"", "file_id", false, "identifier"},
	{"", "container_id", false, "identifier"},
	{"", "vector_store_id", false, "identifier"},
	{"", "approval_request_id", false, "identifier"},
	{"", "previous_response_id", false, "identifier"},
	{"", "type", false, "one of a closed set"},
	{"", "role", false, "one of a closed set"},
	{"", "status", false, "one of a closed set"},
	{"", "object", false, "one of a closed set"},
	{"", "detail", false, "one of a closed set"},
	{"", "finish_reason", false, "one of a closed set"},
	{"", "native_finish_reason", false, "one of a closed set"},
	{"", "image_url", true, "an image, or where one is"},
	{"", "video_url", true, "a film, or where one is"},
	{"", "b64_json", false, "an image in base64"},
	{"", "partial_image_b64", false, "an image in base64"},
	{"", "file_data", false, "a file in base64"},
	{"", "file_url", false, "where a file is"},
	{"", "encrypted_content", false, "encrypted"},
	{"", "signature", false, "a signature in base64"},
	{"", "obfuscation", false, "padding"},
	{"", "system_fingerprint", false, "identifier"},
	{"input_audio", "data", false, "audio in base64"},
	{"audio", "data", false, "audio in base64"},
	{"reasoning_details", "data", false, "encrypted"},
	{"/", "model", false, "name of a model"},
	{"/", "models", true, "names of models"},
	{"/", "provider", true, "routing"},
	{"/", "session_id", false, "identifier"},
	{"/", "safety_identifier", false, "identifier"},
	{"/", "prompt_cache_key", false, "identifier"},
	{"/", "include", true, "names of fields"},
	{"/", "modalities", true, "one of a closed set"},
	{"/", "service_tier", false, "one of a closed set"},
	{"/", "conversation", true, "identifier"},
}

// imageCall is the item whose result is an image and not text.
const imageCall = "image_generation_call"

// echoed are the members in which a Response repeats its request, at the top
// of an answer and in the response of an event: they are the caller's words.
var echoed = []string{
	"instructions", "tools", "tool_choice", "metadata", "text", "prompt", "input", "model", "user",
	"safety_identifier", "prompt_cache_key", "previous_response_id", "conversation", "reasoning",
}

// free are members below which keys are a caller's own words: an id there is
// read like all else, and keys may differ in case only.
var free = map[string]bool{
	"metadata": true, "parameters": true, "schema": true, "input_schema": true, "variables": true,
	"properties": true, "logit_bias": true, "headers": true, "env": true,
}

// unreadBy is unread by key.
var unreadBy = func() map[string][]place {
	by := map[string][]place{}
	for _, p := range unread {
		by[p.key] = append(by[p.key], p)
	}
	return by
}()

// echoedBy is echoed as a set.
var echoedBy = func() map[string]bool {
	by := map[string]bool{}
	for _, key := range echoed {
		by[key] = true
	}
	return by
}()
