package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grounded-memory/grounded"
)

const (
	statsURI     = "grounded://stats"
	recordPrefix = "grounded://record/"
)

func addResources(server *mcp.Server, service grounded.Service) {
	server.AddResource(&mcp.Resource{
		URI: statsURI, Name: "stats", Title: "Figures of the memory", MIMEType: "application/json",
		Description: "How many records are eligible, the scope digest, and how many groups contradict themselves.",
	}, func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		result, err := service.Stats(ctx, &grounded.StatsRequest{})
		if err != nil {
			return nil, err
		}
		return contents(statsURI, result)
	})
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: recordPrefix + "{id}", Name: "record", Title: "A record", MIMEType: "application/json",
		Description: "One record by its id, with its state.",
	}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := req.Params.URI
		id, err := grounded.ParseRecordID(strings.TrimPrefix(uri, recordPrefix))
		if err != nil {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		result, err := service.Get(ctx, &grounded.GetRequest{ID: id})
		if isNotFound(err) {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		if err != nil {
			return nil, err
		}
		return contents(uri, result)
	})
}

func contents(uri string, result any) (*mcp.ReadResourceResult, error) {
	data, err := grounded.EncodeResult(result)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(data)}}}, nil
}

func addPrompts(server *mcp.Server) {
	add := func(name, title, description, argument, help, text string) {
		server.AddPrompt(&mcp.Prompt{
			Name: name, Title: title, Description: description,
			Arguments: []*mcp.PromptArgument{{Name: argument, Description: help}},
		}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			given := text
			if v := req.Params.Arguments[argument]; v != "" {
				given += "\n\n" + help + ": " + v
			}
			return &mcp.GetPromptResult{
				Description: description,
				Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: given}}},
			}, nil
		})
	}
	add("remember_agreement", "Remember what was just agreed", "Stores the agreements of this conversation, each with its source.",
		"topic", "Only what concerns",
		`Go through this conversation and store what was agreed, and nothing else.
One remember call for each plain fact (entity, predicate, value), one note call for what does not fit that form.
The source is who said it, e.g. "user, in this conversation". Store nothing that was only considered or guessed; if it matters, use modality hypothesized.
If a reply lists contradicts, stop and ask the user which side is right, then use correct or forget.
At the end list the ids that you stored.`)
	add("answer_from_memory", "Answer only from memory", "Answers a question from stored records alone, and names them.",
		"question", "The question",
		`Answer the question only from the memory.
Use query where the question joins facts, recall for a short question about one thing, recall_grounded for anything else.
Name the record ids and sources that you rest on, e.g. "(r17, HR export)".
If the status is conflict, show both sides and their sources and do not choose. If it is no_matches or budget_exceeded, say that the memory does not answer it. Do not add what you know from elsewhere.`)
}
