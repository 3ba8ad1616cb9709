package gemini

// Continued is the finishReason of an answer that goes on in another request.
const Continued = "CONTINUATION"

// UnknownCall is the finishReason of an answer that calls a tool which its request does not declare.
const UnknownCall = "UNEXPECTED_TOOL_CALL"

// Broken is what [FinishReason] has for an answer that is none.
const Broken = "error"

// blocked is how an answer ends that the provider's moderation kept back.
const blocked = "content_filter"

// finishes are the finish reasons in OpenAI's words. STOP is said of tool calls, too.
var finishes = map[string]string{
	"MAX_TOKENS": "length", Continued: "length",

	"SAFETY": blocked, "RECITATION": blocked, "LANGUAGE": blocked, "BLOCKLIST": blocked, "PROHIBITED_CONTENT": blocked,
	"SPII": blocked, "MODEL_ARMOR": blocked, "ESCALATION": blocked, "OTHER": blocked,
	"IMAGE_SAFETY": blocked, "IMAGE_PROHIBITED_CONTENT": blocked, "IMAGE_RECITATION": blocked, "IMAGE_OTHER": blocked, "NO_IMAGE": blocked,

	"MALFORMED_FUNCTION_CALL": Broken, UnknownCall: Broken, "TOO_MANY_TOOL_CALLS": Broken,
	"MALFORMED_RESPONSE": Broken, "MISSING_THOUGHT_SIGNATURE": Broken,
}

// FinishReason returns a finishReason as OpenAI has it, "" for a plain end and for one that is not known.
func FinishReason(native string) string { return finishes[native] }
