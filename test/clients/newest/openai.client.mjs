import OpenAI from 'openai';
import { chatCaller } from '../callers/chat.js';
import { responsesCaller } from '../callers/responses.js';
import { runMatrix } from './run-matrix.mjs';

const client = (url, apiKey) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

runMatrix((url, key) => chatCaller(client(url, key)));
runMatrix((url, key) => responsesCaller(client(url, key)));
